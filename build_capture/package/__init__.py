"""What accompanies a set: where it came from."""
