// Helpers for elements and numbers. Nothing from the network is parsed as HTML.

export const byId = (id) => document.getElementById(id);

const SVG = "http://www.w3.org/2000/svg";

// Makes an element with attributes and children; attributes that start with "on" are listeners.
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "text") node.textContent = value;
    else if (key === "checked" || key === "value") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// Writes only changes, so that a live region is not read again and the layout is not computed again.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

// Three significant digits: "2.31 Mbps", "312 kbps".
export function rate(bps) {
  if (!isNumber(bps)) return "–";
  if (bps >= 1e6) return `${(bps / 1e6).toFixed(bps >= 1e8 ? 0 : bps >= 1e7 ? 1 : 2)} Mbps`;
  return `${Math.round(bps / 1e3)} kbps`;
}

export const milliseconds = (value) => (isNumber(value) ? `${Math.round(value)} ms` : "–");

export const percent = (ratio) => (isNumber(ratio) ? `${(100 * ratio).toFixed(ratio >= 0.0995 ? 0 : 1)} %` : "–");

// The three weights of an objective, as in the reports and as in --objective: "0.40 / 0.50 / 0.10".
export const weightsText = (weights) => weights.map((weight) => weight.toFixed(2)).join(" / ");

export const seconds = (value) => (isNumber(value) ? `${Math.max(0, Math.round(value))} s` : "–");
