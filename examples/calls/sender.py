"""The sender of a call that `weir call` measures: 30 frames a second over UDP, at the rate that its label names.

weir call catalogue/steps --controller old --controller new --reference old --out calls \
  --sender 'python3 examples/calls/sender.py' --receiver 'exec python3 examples/calls/receiver.py'
"""

import os
import socket
import struct
import time

RATES_BPS = {"old": 4_000_000, "new": 1_200_000}
FRAMES_PER_SECOND = 30
# With 28 bytes of IP and UDP a packet has 1,000.
PAYLOAD_BYTES = 972

to = (os.environ["WEIR_LINK_FAR"], 5000)
packets = max(1, RATES_BPS[os.environ["WEIR_CALL_LABEL"]] // (8_000 * FRAMES_PER_SECOND))
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
start = time.monotonic()
frame = 0
while True:
    time.sleep(max(0.0, start + frame / FRAMES_PER_SECOND - time.monotonic()))
    for _ in range(packets):
        out.sendto(struct.pack("!IH", frame, packets).ljust(PAYLOAD_BYTES, b"\0"), to)
    frame += 1
