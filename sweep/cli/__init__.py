"""The command line: one file a command, arguments -> one call -> exit code."""
