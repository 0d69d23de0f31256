"""The processes of a call, by their command lines."""


def _peer(role):
    return lambda words: "weir-peer" in words[0] and role in words


VICTIMS = {
    "link": lambda words: "weir-sim" in words[0] and "link" in words,
    "receiver": _peer("receive"),
    "sender": _peer("send"),
    "chromium": lambda words: "chromium" in words[0] and "--type=" not in " ".join(words),
    # It writes all of it as one word.
    "renderer": lambda words: "chromium" in words[0] and "--type=renderer" in " ".join(words),
    "driver": lambda words: words[0].endswith("node"),
    "ffmpeg": lambda words: "ffmpeg" in words[0],
    "reaper": lambda words: any("pidfd_open" in word for word in words),
}
