"""What a set serves, at a glance: kernels down, the rows of a round across, and the variant that serves each."""
