// What was spent, day by day.

import { useEffect, useState } from "preact/hooks";

import type { UsageDay, UsageReport, UsageShare } from "../host/contract";
import { host, sentence } from "../host/http";
import { projects } from "../state";
import { money, tokens } from "../text/format";

const SPANS = [7, 30, 90];

export function UsagePage() {
  const [days, setDays] = useState(30);
  const [project, setProject] = useState("");
  const [report, setReport] = useState<UsageReport | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    let ended = false;
    host.usage(days, project === "" ? null : project).then(
      (found) => {
        if (!ended) {
          setReport(found);
          setError(null);
        }
      },
      (problem: unknown) => setError(sentence(problem)),
    );
    return () => {
      ended = true;
    };
  }, [days, project]);
  return (
    <main class="page" id="main">
      <h1>Usage</h1>
      <div class="row-of-controls">
        <label>
          Days
          <select value={String(days)} onChange={(event) => setDays(Number(event.currentTarget.value))}>
            {SPANS.map((span) => (
              <option key={span} value={String(span)}>
                {span}
              </option>
            ))}
          </select>
        </label>
        <label>
          Project
          <select value={project} onChange={(event) => setProject(event.currentTarget.value)}>
            <option value="">All</option>
            {projects.value.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {error !== null && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {report !== null && <Report report={report} />}
    </main>
  );
}

function Report({ report }: { report: UsageReport }) {
  const limit = report.daily_limit_usd;
  const total = report.days.reduce((sum, day) => sum + day.cost_usd, 0);
  return (
    <>
      <dl class="tiles">
        <div>
          <dt>Today</dt>
          <dd>
            {money(report.today_cost_usd)}
            {limit !== null && <span class="muted small"> of {money(limit)}</span>}
            {limit !== null && limit > 0 && (
              <meter aria-label="Spent of today's limit" min={0} max={limit} high={limit * 0.8} value={Math.min(report.today_cost_usd, limit)} />
            )}
          </dd>
        </div>
        <div>
          <dt>In these days</dt>
          <dd>{money(total)}</dd>
        </div>
      </dl>
      <Chart days={report.days} />
      <Shares title="By model" rows={report.by_model} name={(row) => row.model ?? row.name ?? "unknown"} />
      <Shares title="By project" rows={report.by_project} name={(row) => row.name ?? projectName(row.project_id ?? null)} />
    </>
  );
}

function projectName(id: string | null): string {
  return id === null ? "no project" : (projects.value.find((one) => one.id === id)?.name ?? "a deleted project");
}

const WIDTH = 720;
const HEIGHT = 160;

function Chart({ days }: { days: UsageDay[] }) {
  // Models that cost nothing are charted by what they read and wrote.
  const byCost = days.some((day) => day.cost_usd > 0);
  const sizeOf = (day: UsageDay): number => (byCost ? day.cost_usd : day.input_tokens + day.output_tokens);
  const most = Math.max(0, ...days.map(sizeOf));
  if (most <= 0) {
    return (
      <div class="empty">
        <p>Nothing was spent in these days.</p>
      </div>
    );
  }
  const highest = byCost ? money(most) : `${tokens(most)} tokens`;
  const step = WIDTH / days.length;
  return (
    <figure class="chart">
      <p class="axis">
        <span>{highest} a day</span>
      </p>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${byCost ? "Cost" : "Tokens"} by day, at most ${highest}`} data-testid="usage-chart">
        {days.map((day, index) => {
          const height = (sizeOf(day) / most) * HEIGHT;
          return (
            <rect key={day.date} class="bar" x={index * step + 1} y={HEIGHT - height} width={Math.max(1, step - 2)} height={Math.max(height, 1)}>
              <title>
                {day.date}: {money(day.cost_usd)}, {tokens(day.input_tokens)} in, {tokens(day.output_tokens)} out, {day.runs} runs
              </title>
            </rect>
          );
        })}
      </svg>
      <p class="axis">
        <span>{days[0]?.date}</span>
        <span>{days.at(-1)?.date}</span>
      </p>
      <details>
        <summary>As a table</summary>
        <div class="table-scroll" tabIndex={0} role="group" aria-label="Usage by day">
          <table>
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col">Cost</th>
                <th scope="col">Tokens in</th>
                <th scope="col">Tokens out</th>
                <th scope="col">Runs</th>
              </tr>
            </thead>
            <tbody>
              {days.map((day) => (
                <tr key={day.date}>
                  <td>{day.date}</td>
                  <td>{money(day.cost_usd)}</td>
                  <td>{tokens(day.input_tokens)}</td>
                  <td>{tokens(day.output_tokens)}</td>
                  <td>{day.runs}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function Shares({ title, rows, name }: { title: string; rows: UsageShare[]; name: (row: UsageShare) => string }) {
  if (rows.length === 0) {
    return null;
  }
  const most = Math.max(...rows.map((row) => row.cost_usd), 0.000001);
  return (
    <section>
      <h2>{title}</h2>
      <table class="shares">
        <tbody>
          {rows.map((row) => (
            <tr key={name(row)}>
              <th scope="row">{name(row)}</th>
              <td>
                <meter aria-label={`Share of ${name(row)}`} min={0} max={most} value={row.cost_usd} />
              </td>
              <td>{money(row.cost_usd)}</td>
              <td class="muted">
                {row.input_tokens === undefined ? "" : `${tokens(row.input_tokens)} in, ${tokens(row.output_tokens ?? 0)} out`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
