// Files and pictures that go along with a message.

import type { Upload } from "../host/http";
import { info, toast } from "../state";
import { bytes } from "../text/format";

const MOST = 20;
const DEFAULT_LIMIT = 10 * 1024 * 1024;

/** Reads files into attachments; says which ones are too large. */
export async function readFiles(files: Iterable<File>, already: Upload[]): Promise<Upload[]> {
  const limit = info.value?.limits.max_upload_bytes ?? DEFAULT_LIMIT;
  const added: Upload[] = [];
  // Base64 makes four bytes of three.
  let total = already.reduce((sum, one) => sum + one.data_base64.length * 0.75, 0);
  for (const file of files) {
    if (already.length + added.length >= MOST) {
      toast("error", `At most ${MOST} files go with one message; the rest was left out.`);
      break;
    }
    if (total + file.size > limit) {
      toast("error", `${file.name || "The picture"} is left out: a message may carry ${bytes(limit)} of files.`);
      continue;
    }
    total += file.size;
    added.push({
      name: file.name || `pasted.${file.type.split("/")[1] ?? "bin"}`,
      media_type: file.type || "application/octet-stream",
      data_base64: await toBase64(file),
    });
  }
  return [...already, ...added];
}

function toBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result).replace(/^data:[^,]*,/, "")));
    reader.addEventListener("error", () => reject(reader.error ?? new Error("The file cannot be read.")));
    reader.readAsDataURL(file);
  });
}
