// A small chart of one value over time, drawn as SVG.

interface Props {
  title: string;
  /** The present value as a text. */
  now: string;
  points: readonly { at: number; value: number }[];
  /** The value at the top of the chart. */
  top: number;
}

const WIDTH = 320;
const HEIGHT = 72;

/** Draws the points between the first and the last time. */
export function Chart({ title, now, points, top }: Props) {
  const first = points[0]?.at ?? 0;
  const span = Math.max(1, (points.at(-1)?.at ?? 0) - first);
  const x = (at: number): number => ((at - first) / span) * WIDTH;
  const y = (value: number): number => HEIGHT - 1 - Math.min(1, value / (top || 1)) * (HEIGHT - 4);
  const line = points.map(({ at, value }) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span> <strong>{now}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${title}: ${now}`}>
        {points.length > 1 && (
          <>
            <polygon class="area" points={`0,${HEIGHT} ${line} ${WIDTH},${HEIGHT}`} />
            <polyline class="line" points={line} vector-effect="non-scaling-stroke" />
          </>
        )}
      </svg>
      {points.length < 2 && <p class="note">Figures appear after some seconds.</p>}
    </figure>
  );
}
