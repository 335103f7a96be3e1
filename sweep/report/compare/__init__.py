"""A comparison as words, tables, a figure: for terminal, Markdown and page alike."""
