"""The way through the rooms: from a profile to needs, and on to a set. The command line and the Zig step both come here."""
