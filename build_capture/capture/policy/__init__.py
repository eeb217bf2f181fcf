"""Which cubins a set holds for its needs, and which further entries let them serve more launches."""
