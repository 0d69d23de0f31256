// Why an estimate is what it is, in words and colours; the names are those of the estimator.

export const REASONS = {
  start: { label: "start rate", colour: "--zero", text: "no controller has spoken yet" },
  pilot: { label: "policy", colour: "--c-weir", text: "the policy's rate, as it asked" },
  copilot: { label: "copilot", colour: "--c-nada", text: "fusion preferred another controller's rate" },
  fallback: { label: "fallback", colour: "--c-pcc", text: "the policy is suspended; the rule-based controller carries the call" },
  held: { label: "held", colour: "--c-fixed", text: "the policy failed just now; the rate in force stays" },
  guard_finite: { label: "guard: finite", colour: "--c-gcc", text: "the rate asked for was no usable number; the one in force stays" },
  guard_bounds: { label: "guard: bounds", colour: "--c-gcc-remb", text: "the rate asked for was beyond the bounds of the call" },
  guard_slew: { label: "guard: slew", colour: "--c-gcc-remb", text: "the rate asked for rises faster than what arrives lets it" },
  guard_stale: { label: "guard: stale", colour: "--c-gcc", text: "nothing arrives; the rate is halved for each second of silence" },
};

export const reasonOf = (name) => REASONS[name] || { label: String(name), colour: "--zero", text: "" };

export const RULES = {
  finite: "not a usable number",
  bounds: "outside the bounds",
  slew: "rising too fast",
  stale: "nothing arrives",
};
