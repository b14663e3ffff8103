// Numbers, times and sizes as people read them.

export function money(usd: number): string {
  if (usd === 0) {
    return "$0";
  }
  if (usd < 0.01) {
    return "<$0.01";
  }
  return `$${usd.toFixed(usd < 100 ? 2 : 0)}`;
}

export function tokens(count: number): string {
  if (count < 1000) {
    return String(count);
  }
  if (count < 1_000_000) {
    return `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
  }
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export function duration(ms: number): string {
  if (ms < 1000) {
    return `${Math.round(ms)} ms`;
  }
  const seconds = ms / 1000;
  if (seconds < 60) {
    return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  }
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return `${minutes} min ${Math.round(seconds % 60)} s`;
  }
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(count: number): string {
  if (count < 1024) {
    return `${count} B`;
  }
  if (count < 1024 * 1024) {
    return `${(count / 1024).toFixed(0)} KB`;
  }
  return `${(count / 1024 / 1024).toFixed(1)} MB`;
}

/** A time relative to now, short: "now", "5 min", "3 h", "12 Mar". */
export function ago(at: string, now: number): string {
  const then = Date.parse(at);
  if (Number.isNaN(then)) {
    return "";
  }
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) {
    return "now";
  }
  if (minutes < 60) {
    return `${minutes} min`;
  }
  if (minutes < 24 * 60) {
    return `${Math.floor(minutes / 60)} h`;
  }
  return new Date(then).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

export function clock(at: string): string {
  const then = new Date(at);
  return Number.isNaN(then.getTime())
    ? ""
    : then.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
