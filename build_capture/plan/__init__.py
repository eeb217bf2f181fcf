"""From declarations and profile to needs: the probe program, and what it wrote down."""
