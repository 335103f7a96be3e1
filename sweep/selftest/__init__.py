"""How wrong the tool is on this machine: its own client against simulated endpoints whose true times are known.

`drive` loads the presets in real time and reads what really happened; `truth` and `compare` say, purely, how far the client's
records lie from it; `text` says it to a person. The endpoint's own lateness is in its truth log and is never charged to the
client. The result may be attached to a curve: `sweep run --calibration FILE`.
"""
