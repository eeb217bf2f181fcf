"""The commands of the command line, one module each. A module imports what its command needs only when the command runs."""
