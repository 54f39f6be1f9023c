// The overview of a sandbox: memory and CPU over time, facts, and the running programs.

import type { Agent, Client, SandboxEntry } from '../src/client/index.js';
import { Chart } from './chart';
import { bytes, clock, duration } from './format';
import { useLoaded } from './load';

const METRICS_MS = 4_000;
const PROGRAMS_MS = 3_000;

interface Props {
  client: Client;
  /** The agent of a running sandbox. */
  agent: Agent | undefined;
  entry: SandboxEntry;
}

/** Shows the overview. */
export function Overview({ client, agent, entry }: Props) {
  const { value: metrics = [], failure } = useLoaded(() => client.metrics(entry.sandboxID), entry.sandboxID, METRICS_MS);
  const last = metrics.at(-1);
  const points = (key: 'cpuUsedPct' | 'memUsed' | 'diskUsed') =>
    metrics.map((one) => ({ at: one.timestampUnix, value: one[key] }));
  const most = (key: 'memUsed' | 'diskUsed'): number => Math.max(...metrics.map((one) => one[key]), 1) * 1.25;
  return (
    <>
      <div class="charts">
        <Chart
          title="CPU"
          now={last === undefined ? '' : `${last.cpuUsedPct.toFixed(0)} %`}
          points={points('cpuUsedPct')}
          top={Math.max(100, ...metrics.map((one) => one.cpuUsedPct))}
        />
        <Chart
          title="Memory"
          now={last === undefined ? '' : `${bytes(last.memUsed)} of ${bytes(last.memTotal)}`}
          points={points('memUsed')}
          top={most('memUsed')}
        />
        <Chart
          title="Disk"
          now={last === undefined ? '' : `${bytes(last.diskUsed)} of ${bytes(last.diskTotal)}`}
          points={points('diskUsed')}
          top={most('diskUsed')}
        />
      </div>
      {failure !== undefined && <p class="note">The figures are missing: {failure}</p>}
      <dl class="facts">
        <dt>Id</dt>
        <dd class="id">{entry.sandboxID}</dd>
        <dt>Template</dt>
        <dd>{entry.alias ?? entry.templateID}</dd>
        <dt>Started</dt>
        <dd>{clock(entry.startedAt)}</dd>
        <dt>{entry.state === 'running' ? 'Ends' : 'State'}</dt>
        <dd>
          {entry.state === 'running'
            ? `${clock(entry.endAt)}, in ${duration((Date.parse(entry.endAt) - Date.now()) / 1_000)}`
            : 'stored on disk'}
        </dd>
        <dt>Size</dt>
        <dd>
          {entry.memoryMB} MiB memory, {entry.cpuCount} CPU
        </dd>
        {Object.entries(entry.metadata).map(([name, value]) => (
          <>
            <dt key={`${name} name`}>{name}</dt>
            <dd key={`${name} value`}>{value}</dd>
          </>
        ))}
      </dl>
      {agent !== undefined && <Programs agent={agent} id={entry.sandboxID} />}
    </>
  );
}

function Programs({ agent, id }: { agent: Agent; id: string }) {
  const { value: programs = [], reload } = useLoaded(() => agent.programs(), `programs ${id}`, PROGRAMS_MS);
  return (
    <>
      <h2>Programs</h2>
      {programs.length === 0 ? (
        <p class="note">No program of a client runs.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">PID</th>
              <th scope="col">Command</th>
              <th scope="col">
                <span class="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {programs.map(({ pid, cmd, args }) => (
              <tr key={pid}>
                <td>{pid}</td>
                <td class="command">{[cmd, ...args].join(' ')}</td>
                <td class="end">
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`End the program ${pid}`}
                    onClick={() => void agent.signal(pid, 'SIGKILL').finally(reload)}
                  >
                    End
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
