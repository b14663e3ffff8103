// Choosing the model and the permission mode.

import { useState } from "preact/hooks";

import { info } from "../state";
import { labelled } from "../view/models";
import { DEFAULT_MODES, isDangerous, modeMeaning, modeName } from "../view/modes";
import { Confirm } from "./Dialog";

export function ModelPicker({ value, disabled, onChange }: { value: string; disabled?: boolean; onChange: (model: string) => void }) {
  const known = info.value?.models ?? [];
  const models = value === "" || known.some((model) => model.id === value) ? known : [...known, { id: value, name: value }];
  return (
    <label class="picker">
      <span class="hidden">Model</span>
      <select value={value} disabled={disabled === true || models.length === 0} onChange={(event) => onChange(event.currentTarget.value)}>
        {labelled(models).map((model) => (
          <option key={model.id} value={model.id}>
            {model.name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function ModePicker({ value, disabled, onChange }: { value: string; disabled?: boolean; onChange: (mode: string) => void }) {
  const [asked, setAsked] = useState<string | null>(null);
  const offered = info.value?.modes ?? DEFAULT_MODES;
  const modes = offered.includes(value) ? offered : [...offered, value];
  return (
    <>
      <label class={`picker ${isDangerous(value) ? "dangerous" : ""}`}>
        <span class="hidden">Permission mode</span>
        <select
          value={value}
          disabled={disabled === true}
          title={modeMeaning(value)}
          onChange={(event) => {
            const mode = event.currentTarget.value;
            if (isDangerous(mode)) {
              event.currentTarget.value = value;
              setAsked(mode);
            } else {
              onChange(mode);
            }
          }}
        >
          {modes.map((mode) => (
            <option key={mode} value={mode}>
              {modeName(mode)}
            </option>
          ))}
        </select>
      </label>
      {asked !== null && (
        <Confirm
          title="Allow everything?"
          text="Nothing will be asked any more in this conversation: commands run and files change as the agent decides. Only deny rules and guarded files still hold."
          action="Allow everything"
          onConfirm={() => onChange(asked)}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}
