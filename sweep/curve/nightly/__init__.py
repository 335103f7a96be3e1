"""Every night a curve: has it moved, since when, and how sure is that.

`history` finds the files, `night` reads one, `comparable` tells them apart by what they measured, `series` puts them side by
side, `tracks` tests a night against those before it, `judge` replays all nights and says what is suspected and confirmed,
`drift` and `dating` advise.
"""
