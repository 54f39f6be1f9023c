// The bodies and queries of the routes of templates, and the shapes of their responses.

import { z } from 'zod';
import type { BuildRecord, TemplateRecord } from '../../registry/records.js';
import type { BuildLine } from '../../templates/logs.js';
import { DEFAULT_TAG } from '../../templates/references.js';
import { AGENT_VERSION, CPU_COUNT, PageQuery, type Stated } from './sandboxes.js';

const MOST_STEPS = 500;
const MOST_TAGS = 50;
const LONGEST = 65_536;

const name = z.string().min(1).max(300);
const tagList = z.array(z.string().min(1).max(300)).max(MOST_TAGS);
const size = {
  cpuCount: z.number().int().min(1).max(64).optional(),
  memoryMB: z.number().int().min(1).max(1_048_576).optional(),
};
const command = z.string().max(LONGEST).nullish();

/** The body of a request for a template, in the third version. */
export const NewTemplateBody = z.object({
  name: name.optional(),
  alias: name.optional(),
  tags: tagList.default([]),
  teamID: z.string().optional(),
  ...size,
});

/** The body of a request for a template, in the second version. */
export const OldTemplateBody = z.object({ alias: name, teamID: z.string().optional(), ...size });

/** The body of a request for a template, in the first version. */
export const DockerfileBody = z.object({
  alias: name.optional(),
  dockerfile: z.string().min(1).max(LONGEST),
  teamID: z.string().optional(),
  startCmd: command,
  readyCmd: command,
  ...size,
});

/** The body of the start of a build. */
export const BuildBody = z.object({
  fromImage: z.string().max(1_000).nullish(),
  fromTemplate: z.string().max(500).nullish(),
  fromImageRegistry: z.unknown().optional(),
  force: z.boolean().nullish(),
  steps: z
    .array(
      z.object({
        type: z.string().max(32),
        args: z.array(z.string().max(LONGEST)).max(1_000).default([]),
        filesHash: z
          .string()
          .regex(/^[0-9a-zA-Z]{1,128}$/)
          .nullish(),
        force: z.boolean().nullish(),
      }),
    )
    .max(MOST_STEPS)
    .default([]),
  startCmd: command,
  readyCmd: command,
});

/** The path of a call about one build. */
export const BuildPath = z.object({ id: z.string().min(1).max(500), build: z.string().min(1).max(100) });
/** The path of a call about the files of a step. */
export const FilesPath = z.object({ id: z.string().min(1).max(500), hash: z.string().regex(/^[0-9a-zA-Z]{1,128}$/) });

const lines = z.coerce.number().int().min(0).max(100).default(100);
const level = z.enum(['debug', 'info', 'warn', 'error']).optional();

/** The query of the state of a build. */
export const StatusQuery = z.object({ logsOffset: z.coerce.number().int().min(0).default(0), limit: lines, level });
/** The query of the lines of a build. */
export const BuildLogsQuery = z.object({
  cursor: z.coerce.number().min(0).optional(),
  limit: lines,
  direction: z.enum(['forward', 'backward']).default('forward'),
  level,
});

/** The body of a request that adds tags to a build. */
export const TagsBody = z.object({ target: name, tags: tagList.min(1) });
/** The body of a request that removes tags. */
export const RemoveTagsBody = z.object({ name, tags: tagList.min(1) });
/** The body of a change of a template. */
export const UpdateTemplateBody = z.object({ public: z.boolean().optional() });
/** The query of a list of templates. */
export const TemplatesQuery = PageQuery.extend({ teamID: z.string().optional() });

const MIB = 1 << 20;
const timeOf = (at: number): string => new Date(at).toISOString();

/** Returns the full names of a template. */
export const namesOf = ({ tenant, name: own }: TemplateRecord): string[] => (own === undefined ? [] : [`${tenant}/${own}`]);
const aliasesOf = ({ name: own }: TemplateRecord): string[] => (own === undefined ? [] : [own]);

/** The description of a snapshot. */
export const snapshotResponse = (template: TemplateRecord, tags: readonly string[]) => ({
  snapshotID: `${template.id}:${tags.includes(DEFAULT_TAG) ? DEFAULT_TAG : (tags[0] ?? DEFAULT_TAG)}`,
  names: namesOf(template),
  // The page draws the tree of a sandbox and its snapshots.
  ...(template.sandboxId === undefined ? {} : { sandboxID: template.sandboxId }),
  createdAt: new Date(template.createdAt).toISOString(),
});

/** The response to a request for a template. */
export const requestedResponse = (template: TemplateRecord, { id }: BuildRecord, tags: readonly string[]) => ({
  templateID: template.id,
  buildID: id,
  public: false,
  names: namesOf(template),
  aliases: aliasesOf(template),
  tags,
});

/** The description of a template, with its newest builds. */
export const templateResponse = (template: TemplateRecord, builds: readonly BuildRecord[], stated: Stated) => {
  const ready = builds.find(({ state }) => state === 'ready') ?? builds[0];
  return {
    templateID: template.id,
    buildID: ready?.id ?? '',
    cpuCount: CPU_COUNT,
    memoryMB: Math.floor(stated.memoryBytes / MIB),
    diskSizeMB: Math.floor(stated.diskBytes / MIB),
    public: false,
    aliases: aliasesOf(template),
    names: namesOf(template),
    createdAt: timeOf(template.createdAt),
    updatedAt: timeOf(template.updatedAt),
    createdBy: null,
    lastSpawnedAt: null,
    spawnCount: 0,
    buildCount: builds.length,
    envdVersion: AGENT_VERSION,
    buildStatus: ready?.state ?? 'waiting',
  };
};

/** The description of a build. */
export const buildResponse = ({ id, state, createdAt, finishedAt }: BuildRecord, stated: Stated) => ({
  buildID: id,
  status: state,
  createdAt: timeOf(createdAt),
  updatedAt: timeOf(finishedAt ?? createdAt),
  ...(finishedAt === undefined ? {} : { finishedAt: timeOf(finishedAt) }),
  cpuCount: CPU_COUNT,
  memoryMB: Math.floor(stated.memoryBytes / MIB),
  diskSizeMB: Math.floor(stated.diskBytes / MIB),
  envdVersion: AGENT_VERSION,
});

/** A line of a build in the clients' shape. */
export const lineResponse = ({ at, level: own, message, step }: BuildLine) => ({
  timestamp: timeOf(at),
  level: own,
  message,
  ...(step === undefined ? {} : { step }),
});
