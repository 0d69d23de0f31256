// Why an estimate is what it is, in words and colours; the names are those of the estimator.

export const REASONS = {
  start: { label: "start rate", colour: "--zero", text: "no controller has spoken yet" },
  pilot: { label: "policy", colour: "--series-1", text: "the policy's rate, as it asked" },
  copilot: { label: "copilot", colour: "--series-5", text: "fusion preferred another controller's rate" },
  fallback: { label: "fallback", colour: "--series-4", text: "the policy is suspended; the rule-based controller carries the call" },
  held: { label: "held", colour: "--series-7", text: "the policy failed just now; the rate in force stays" },
  guard_finite: { label: "guard: finite", colour: "--series-2", text: "the rate asked for was no usable number; the one in force stays" },
  guard_floor: { label: "guard: floor", colour: "--series-3", text: "the path shows no queue, and the rate asked for would leave what it just carried" },
  guard_bounds: { label: "guard: bounds", colour: "--series-3", text: "the rate asked for was beyond the bounds of the call" },
  guard_slew: { label: "guard: slew", colour: "--series-3", text: "the rate asked for rises faster than what arrives lets it" },
  guard_stale: { label: "guard: stale", colour: "--series-2", text: "nothing arrives; the rate is halved for each second of silence" },
  guard_veto: { label: "guard: veto", colour: "--series-3", text: "a queue or loss stays; less than what arrives, until it has gone" },
  guard_policer: { label: "guard: policer", colour: "--series-3", text: "loss begins at this rate again and again; the rate stays below it" },
};

// A rule of the guard without a text here is shown by its name.
export function reasonOf(name) {
  const rule = /^guard_(\w+)$/.exec(name);
  return REASONS[name] || { label: rule ? `guard: ${rule[1]}` : String(name), colour: rule ? "--series-3" : "--zero", text: "" };
}

export const RULES = {
  finite: "not a usable number",
  floor: "sinking without a queue",
  bounds: "outside the bounds",
  slew: "rising too fast",
  stale: "nothing arrives",
  veto: "a queue or loss stays",
  policer: "a policer is suspected",
};
