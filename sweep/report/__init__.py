"""A curve becomes something seen."""
