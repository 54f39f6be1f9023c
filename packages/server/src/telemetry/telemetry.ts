// The server's own counters, in the text format of OpenMetrics.
// https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md

type Labels = Readonly<Record<string, string>>;

/** The most label sets of one counter. Further label sets are not counted. */
const MOST_SERIES = 2_000;
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
const keyOf = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');

/** A number that only grows, for each set of labels. */
export class Counter {
  readonly #name: string;
  readonly #help: string;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  add(labels: Labels, by = 1): void {
    const key = keyOf(labels);
    if (!this.#values.has(key) && this.#values.size >= MOST_SERIES) return;
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  get lines(): string[] {
    const values = [...this.#values].map(([key, value]) => `${this.#name}_total{${key}} ${value}`);
    return [`# TYPE ${this.#name} counter`, `# HELP ${this.#name} ${this.#help}`, ...values];
  }
}

/** The distribution of durations, for each set of labels. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #values = new Map<string, { buckets: number[]; sum: number; count: number }>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  observe(seconds: number, labels: Labels): void {
    const key = keyOf(labels);
    let value = this.#values.get(key);
    if (value === undefined) {
      if (this.#values.size >= MOST_SERIES) return;
      value = { buckets: BUCKETS_S.map(() => 0), sum: 0, count: 0 };
      this.#values.set(key, value);
    }
    value.count++;
    value.sum += seconds;
    value.buckets = value.buckets.map((counted, at) => (seconds <= (BUCKETS_S[at] as number) ? counted + 1 : counted));
  }

  get lines(): string[] {
    const lines = [`# TYPE ${this.#name} histogram`, `# UNIT ${this.#name} seconds`, `# HELP ${this.#name} ${this.#help}`];
    for (const [key, { buckets, sum, count }] of this.#values) {
      for (const [at, most] of BUCKETS_S.entries()) lines.push(`${this.#name}_bucket{${key},le="${most}"} ${buckets[at]}`);
      lines.push(
        `${this.#name}_bucket{${key},le="+Inf"} ${count}`,
        `${this.#name}_count{${key}} ${count}`,
        `${this.#name}_sum{${key}} ${sum}`,
      );
    }
    return lines;
  }
}

/** The counters of one server. */
export class Telemetry {
  readonly requests = new Counter('coldframe_requests', 'Requests to the control plane.');
  readonly durations = new Histogram('coldframe_request_seconds', 'Durations of requests to the control plane.');
  readonly proxied = new Counter('coldframe_proxied_requests', 'Requests to agents and servers of sandboxes.');
  readonly events = new Counter('coldframe_events', 'Events of sandboxes.');

  /** Returns all values, with the present values of `gauges`. */
  text(gauges: readonly { name: string; help: string; value: number }[]): string {
    const present = gauges.flatMap(({ name, help, value }) => [
      `# TYPE ${name} gauge`,
      `# HELP ${name} ${help}`,
      `${name} ${value}`,
    ]);
    const counted = [this.requests, this.durations, this.proxied, this.events].flatMap(({ lines }) => lines);
    return `${[...present, ...counted, '# EOF'].join('\n')}\n`;
  }
}
