"""A sender with the shipped model: the rate after 400 packets."""

import weir

sender = weir.SendSideEstimator(weir.Model.shipped())
feedback: list[tuple[int, int | None]] = []
for i in range(400):
    now_us = 5000 * i
    sender.on_sent_packet(send_time_us=now_us, sequence_number=i, size_bytes=1200)
    feedback.append((i, now_us + 20000))
    if i % 10 == 9:
        sender.on_transport_feedback(feedback, now_us + 40000)
        feedback.clear()
print(sender.target_rate_bps, sender.reason)
