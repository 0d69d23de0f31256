// The controllers that a call can have, as the server has them from the registry.
const controllers = new Map();

export function learnControllers(described) {
  for (const one of described) controllers.set(one.name, one);
}

export const controllerSummary = (name) => {
  const { summary } = controllers.get(name) || { summary: "" };
  return summary && `${summary[0].toUpperCase()}${summary.slice(1)}.`;
};

// The line of several controllers, such as "pilot=weir copilots=nada fusion=min".
export const isPool = (name) => name.includes("=");

// As colours.py makes it of a name that CSS cannot have.
export const cssName = (name) => name.replace(/[^A-Za-z0-9_-]/g, "_");

// Whether a model decides, or has a seat: weir's, which another may replace.
export const hasModel = (name) => isPool(name) ? /[=,]weir\b(?!:)/.test(name) : followsObjective(name);

// Whether Weir is asked for estimates.
export const followsObjective = (name) => !controllers.has(name) || controllers.get(name).follows_objective;
