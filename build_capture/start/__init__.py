"""The first steps in a project: `build-capture init`."""
