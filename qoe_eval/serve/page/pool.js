// Who sits where in a pool of controllers, and the line that changes it in the call.
import { byId, element, setText } from "./dom.js";

export class PoolView {
  // changed(line): a person wants other seats.
  constructor(changed) {
    this.changed = changed;
    this.known = "";
    byId("pool-form").addEventListener("submit", (event) => {
      event.preventDefault();
      changed(byId("pool-change").value.trim());
    });
  }

  // pool: of the latest estimate; null where one controller is alone.
  show(pool) {
    byId("pool").hidden = !pool;
    if (!pool) { this.known = ""; return; }
    const changes = pool.pilot_changes;
    setText(byId("pool-note"), `Fusion: ${pool.fusion}. The policy changed the pilot ${changes} time${changes === 1 ? "" : "s"}.`);
    // What a person is writing stays.
    if (pool.line !== this.known && document.activeElement !== byId("pool-change")) {
      byId("pool-change").value = pool.line;
      this.known = pool.line;
    }
    // Rows are kept, so that a button is not replaced under the pointer.
    const body = byId("pool-members");
    while (body.children.length > pool.members.length) body.lastElementChild.remove();
    while (body.children.length < pool.members.length) body.append(this.row());
    pool.members.forEach((member, index) => this.fill(body.children[index], member, pool));
  }

  row() {
    const button = element("button", { type: "button", text: "Pilot" });
    return element("tr", {}, element("th", { scope: "row", class: "text" }), element("td", { class: "text" }), element("td"), element("td"), element("td", {}, button));
  }

  fill(row, member, pool) {
    const [name, seat, rate, trust, change] = row.children;
    setText(name, member.name);
    setText(seat, member.role);
    setText(rate, member.rate_bps === null ? "–" : Math.round(member.rate_bps / 1000).toLocaleString("en"));
    setText(trust, member.trust.toFixed(2));
    const button = change.firstElementChild;
    button.disabled = member.role === "pilot";
    button.setAttribute("aria-label", `Give ${member.name} the pilot's seat`);
    button.onclick = () => this.changed(lineWithPilot(pool, member.name));
  }
}

// The same line with another pilot; who had the seat becomes the first copilot.
function lineWithPilot(pool, name) {
  const words = pool.line.split(" ").filter((word) => !word.startsWith("pilot=") && !word.startsWith("copilots="));
  const before = pool.line.match(/pilot=(\S+)/)[1];
  const copilots = [before, ...(pool.line.match(/copilots=(\S+)/)?.[1].split(",") || [])].filter((one) => one !== name);
  return [`pilot=${name}`, ...(copilots.length ? [`copilots=${copilots.join(",")}`] : []), ...words].join(" ");
}
