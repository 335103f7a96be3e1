"""What is sent: texts of a wanted token count. Pure."""
