// The controllers that a call can have, as the server has them from the registry.
const controllers = new Map();

export function learnControllers(described) {
  for (const one of described) controllers.set(one.name, one);
}

export const controllerSummary = (name) => {
  const { summary } = controllers.get(name) || { summary: "" };
  return summary && `${summary[0].toUpperCase()}${summary.slice(1)}.`;
};

// Whether Weir is asked for estimates.
export const followsObjective = (name) => !controllers.has(name) || controllers.get(name).follows_objective;
