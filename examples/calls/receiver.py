"""The receiver of a call that `weir call` measures: renders each frame that is complete, and prints its statistics as
a browser page prints those of getStats. See sender.py.
"""

import json
import os
import socket
import struct
import time

INTERVAL_S = 0.5

packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
packets.bind((os.environ["WEIR_LINK_LOCAL"], 5000))
packets.settimeout(INTERVAL_S)
video = {"id": "v", "type": "inbound-rtp", "kind": "video", "frameHeight": 360, "bytesReceived": 0, "framesDecoded": 0,
         "freezeCount": 0, "totalFreezesDuration": 0.0}  # fmt: skip
arrived: dict[int, int] = {}
rendered_s = printed_s = 0.0
while True:
    try:
        packet = packets.recv(2048)
    except TimeoutError:
        packet = b""
    now_s = time.monotonic()
    if packet:
        number, needed = struct.unpack_from("!IH", packet)
        video["bytesReceived"] += len(packet)
        arrived[number] = arrived.get(number, 0) + 1
        if arrived[number] == needed:
            if not rendered_s:
                print(json.dumps({"type": "state", "state": "connected"}), flush=True)
            # As in webrtc-stats, for frames of a thirtieth of a second.
            elif now_s - rendered_s > 1 / 30 + 0.15:
                video["freezeCount"] += 1
                video["totalFreezesDuration"] += now_s - rendered_s
            video["framesDecoded"] += 1
            rendered_s = now_s
            arrived = {frame: count for frame, count in arrived.items() if frame > number}
    if rendered_s and now_s > printed_s + INTERVAL_S:
        printed_s = now_s
        print(json.dumps({"type": "stats", "report": [video]}), flush=True)
