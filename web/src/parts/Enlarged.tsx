// A picture in front of the page, as large as the window allows.

import { Dialog } from "./Dialog";

interface EnlargedProps {
  name: string;
  source: string;
  onClose: () => void;
}

export function Enlarged({ name, source, onClose }: EnlargedProps) {
  return (
    <Dialog title={name} wide onClose={onClose}>
      <div class="enlarged">
        <img src={source} alt={name} />
      </div>
      <div class="buttons">
        <a class="button" href={source} download={name}>
          Save
        </a>
      </div>
    </Dialog>
  );
}
