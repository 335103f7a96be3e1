"""The simulated endpoint. Synthetic: it claims nothing about real hardware."""
