"""Curves put side by side: what may be compared, what each delivers, and how sure a difference is."""
