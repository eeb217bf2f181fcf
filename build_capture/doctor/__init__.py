"""`build-capture doctor`: what is on this machine, and whether a capture can work here."""
