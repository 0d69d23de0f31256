// The WebSocket to the server. It reconnects automatically, and requests only the missed events.

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 8000;

export class Connection {
  // handlers: hello(message), events(list), refused(message: {of, message}), connected(boolean), replaced()
  constructor(handlers) {
    this.handlers = handlers;
    this.run = "";
    this.last = 0;
    this.wait = FIRST_WAIT_MS;
    this.open();
  }

  open() {
    const query = new URLSearchParams({ run: this.run, after: String(this.last) });
    this.socket = new WebSocket(`ws://${location.host}${location.pathname}live?${query}`);
    this.socket.addEventListener("message", (message) => this.take(JSON.parse(message.data)));
    this.socket.addEventListener("close", () => {
      this.handlers.connected(false);
      this.again();
    });
  }

  // Another run of the server has another token, and refuses that of this page.
  async again() {
    const answer = await fetch("setup").catch(() => null);
    if (answer && answer.status === 401) {
      this.handlers.replaced();
      return;
    }
    setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(LONGEST_WAIT_MS, this.wait * 1.7);
  }

  take(message) {
    if (message.type === "hello") {
      this.wait = FIRST_WAIT_MS;
      if (!message.resumed) this.last = 0;
      this.run = message.run;
      this.viewer = message.viewer;
      this.handlers.connected(true);
      this.handlers.hello(message);
    } else if (message.type === "events") {
      const fresh = message.events.filter((event) => event.seq > this.last);
      if (fresh.length === 0) return;
      this.last = fresh[fresh.length - 1].seq;
      this.handlers.events(fresh);
    } else if (message.type === "refused") {
      this.handlers.refused(message);
    }
  }

  // Returns true if the message was sent.
  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }
}

// Requests something below the address of the page, which has the token; returns {ok, value, errors}, also if the server is not reachable.
export async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  try {
    const answer = await fetch(path, options);
    const text = await answer.text();
    try {
      return { ok: answer.ok, value: JSON.parse(text), errors: answer.ok ? [] : JSON.parse(text).errors };
    } catch {
      return { ok: false, value: null, errors: [text.trim() || `The server answered ${answer.status}.`] };
    }
  } catch {
    return { ok: false, value: null, errors: ["The server does not respond. Is 'weir serve' still running?"] };
  }
}
