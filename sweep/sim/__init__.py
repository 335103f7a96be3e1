"""The simulated endpoint: its true latencies are known, so that what measures can be measured.

Synthetic: it claims nothing about real hardware. One scheduler (`engine`) on one model of a step's time (`device`) runs

- in virtual time (`virtual`): cells of a plan give exact records, thousands of requests in seconds, bit for bit the same;
- in real time (`server`): an HTTP endpoint over every dialect that logs what really happened (`truth`) and can misbehave
  (`faults`). Its requests land in the middle of steps, so its throughput lies a little below the virtual one.

A token of a prompt is a word of up to 16 bytes (`tokens`), so that prompts of the built-in texts have exactly the length asked
for; chat adds a template of seven tokens, completions none.
"""
