// Models as people choose them.

import type { Model } from "../host/contract";

/** Models with names that tell them apart: where two have one name, their ids stand behind it. */
export function labelled(models: Model[]): Model[] {
  const isAlone = (name: string): boolean => models.filter((model) => model.name === name).length === 1;
  return models.map((model) => (isAlone(model.name) ? model : { ...model, name: `${model.name} (${model.id})` }));
}
