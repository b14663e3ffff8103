// Files that came with a message: pictures to look at, others to save.

import { useState } from "preact/hooks";

import type { AttachmentNote } from "../host/contract";
import { bytes } from "../text/format";
import { Enlarged } from "./Enlarged";

export function Attachments({ attachments }: { attachments: AttachmentNote[] }) {
  const [open, setOpen] = useState<AttachmentNote | null>(null);
  if (attachments.length === 0) {
    return null;
  }
  return (
    <>
      <ul class="attachments" aria-label="Attachments">
        {attachments.map((attachment, index) => (
          <li key={index}>
            <One attachment={attachment} onOpen={() => setOpen(attachment)} />
          </li>
        ))}
      </ul>
      {open !== null && <Enlarged name={open.name} source={open.url ?? ""} onClose={() => setOpen(null)} />}
    </>
  );
}

function One({ attachment, onOpen }: { attachment: AttachmentNote; onOpen: () => void }) {
  const [missing, setMissing] = useState(false);
  const { name, media_type, size, url } = attachment;
  const about = `${name} · ${bytes(size)}`;
  // Only addresses of this host are followed, whatever an event says.
  if (url === undefined || !url.startsWith("/api/") || missing) {
    return <span class="tag">{about}</span>;
  }
  if (media_type.startsWith("image/")) {
    return (
      <button type="button" class="thumbnail" aria-label={`Enlarge ${name}`} title={about} onClick={onOpen}>
        <img src={url} alt={name} loading="lazy" onError={() => setMissing(true)} />
      </button>
    );
  }
  return (
    <a class="tag file" href={url} download={name}>
      ↓ {about}
    </a>
  );
}
