/** A file or a folder in our home. */
export type HomeRow = {
  /** The path as people read it; a folder ends with a slash. */
  path: string
  /** The name on the disk. */
  name: RegExp
  what: string
  format: string
  /** Whether the file can be rebuilt from other files. */
  made?: true
}

const jsonl = 'JSON Lines'
const sqlite = 'SQLite'
const folder = 'folder'
const text = 'text'

/** Every file that we write in our home; any other file is not ours. `where`, `uninstall` and the reference use this table. */
export const homeTable: readonly HomeRow[] = [
  { path: 'settings.json', name: /^settings\.json$/, what: 'settings', format: 'JSON with comments' },
  { path: 'config.yaml', name: /^config\.yaml$/, what: 'settings', format: 'YAML' },
  {
    path: 'settings.json.<time>.bak',
    name: /^(settings\.json|config\.yaml)\.[\dTZ-]+\.bak$/,
    what: 'settings, as they were before a setup',
    format: 'as the file',
  },
  {
    path: 'settings.schema.json',
    name: /^settings\.schema\.json$/,
    what: 'the schema by which editors check the settings',
    format: 'JSON Schema',
    made: true,
  },
  { path: 'credentials.json', name: /^credentials\.json$/, what: 'API keys', format: 'JSON' },
  {
    path: 'mcp.key',
    name: /^mcp\.key$/,
    what: 'the key to our MCP server over HTTP',
    format: text,
    made: true,
  },
  {
    path: 'hub.log',
    name: /^hub\.log$/,
    what: 'the messages of the hub that a chat started',
    format: text,
    made: true,
  },
  { path: 'hub.key', name: /^hub\.key$/, what: 'the key to the hub', format: text, made: true },
  { path: 'hub-<hash>.key', name: /^hub-\w+\.key$/, what: 'the key to another hub', format: text },
  {
    path: 'machine.key',
    name: /^machine\.key$/,
    what: 'the secret by which hubs know this machine again',
    format: text,
    made: true,
  },
  {
    path: 'joined/',
    name: /^joined$/,
    what: 'the keys to hubs that this machine has joined as an agent machine, and the program that runs its agents',
    format: folder,
  },
  {
    path: 'hub.db.<time>.replaced',
    name: /^hub\.db\.[\dTZ-]+\.replaced(-wal|-shm|-journal)?$/,
    what: 'the tasks of the hub as they were before `termaite hub restore`; delete them when you no longer need them',
    format: sqlite,
  },
  {
    path: 'hub.db.<time>.replaced-texts/',
    name: /^hub\.db\.[\dTZ-]+\.replaced-texts$/,
    what: 'the long texts of those tasks',
    format: folder,
  },
  {
    path: 'hub.db-restored-<name>',
    name: /^hub\.db-restored-[0-9a-z]+(-wal|-shm|-journal)?$/,
    what: 'left by a `termaite hub restore` that was cut off; delete it',
    format: sqlite,
    made: true,
  },
  {
    path: 'hub.db-restored-<name>-texts/',
    name: /^hub\.db-restored-[0-9a-z]+-texts$/,
    what: 'left by a `termaite hub restore` that was cut off; delete it',
    format: folder,
    made: true,
  },
  { path: 'hub.db', name: /^hub\.db(-[\w-]+)?$/, what: 'the agents and tasks of the hub', format: sqlite },
  {
    path: 'hub.db-texts/',
    name: /^hub\.db-texts$/,
    what: 'diffs, outputs and files of the hub’s tasks',
    format: folder,
  },
  {
    path: 'hub-audit.db',
    name: /^hub-audit\.db(-\w+)?$/,
    what: 'audit of the hub: what its clients did',
    format: sqlite,
  },
  {
    path: 'audit.jsonl',
    name: /^(audit\.jsonl|audit-head\.json)$/,
    what: 'audit: what termaite’s own agent was allowed to do, and did',
    format: `${jsonl}, each entry with the hash of the previous one`,
  },
  {
    path: 'belongings.json',
    name: /^belongings\.json$/,
    what: 'what you took into use of other CLIs, so that it can be taken back',
    format: 'JSON',
  },
  { path: 'trust.json', name: /^trust\.json$/, what: 'which folders you trust', format: 'JSON' },
  {
    path: 'trust/',
    name: /^trust$/,
    what: 'copies of the files that you trusted, to show what changed',
    format: folder,
  },
  {
    path: 'health.json',
    name: /^health\.json$/,
    what: 'quota, cool-down and position of each agent',
    format: 'JSON',
    made: true,
  },
  {
    path: 'system-spec.json',
    name: /^system-spec\.json$/,
    what: 'facts about this machine, kept for a day',
    format: 'JSON',
    made: true,
  },
  {
    path: 'cli-sessions.jsonl',
    name: /^cli-sessions\.jsonl(\.tmp)?$/,
    what: 'which sessions of other CLIs were ours, so that `import` leaves them out: their keys and times, and no words',
    format: jsonl,
  },
  {
    path: 'workspaces.json',
    name: /^workspaces\.json$/,
    what: 'the folders of this machine that a hub’s tasks are about',
    format: 'JSON',
    made: true,
  },
  {
    path: 'termaite.db',
    name: /^termaite\.db(-\w+)?$/,
    what: 'index over all conversations; can be made again',
    format: sqlite,
    made: true,
  },
  {
    path: 'lock.db',
    name: /^lock\.db(-\w+)?$/,
    what: 'lock that keeps two processes from writing at the same time',
    format: sqlite,
    made: true,
  },
  {
    path: '*.json.tmp',
    name: /^(settings|settings\.schema|belongings|health|trust|audit-head|system-spec|workspaces)\.json\.tmp$/,
    what: 'left by an interrupted write',
    format: 'as the file',
    made: true,
  },
  { path: 'crew/', name: /^crew$/, what: 'conversations of crews', format: `folder of ${jsonl} and JSON` },
  {
    path: 'terminals/',
    name: /^terminals$/,
    what: 'data by which terminals of agents are found again',
    format: folder,
    made: true,
  },
  {
    path: 'scratch/',
    name: /^scratch$/,
    what: 'temporary files of commands in the sandbox',
    format: folder,
    made: true,
  },
  {
    path: 'wall/',
    name: /^wall$/,
    what: 'filters of the sandbox, and your git settings as it shows them',
    format: folder,
    made: true,
  },
  { path: 'walls/', name: /^walls$/, what: 'private homes of agents behind a wall', format: folder, made: true },
  {
    path: 'guards/',
    name: /^guards$/,
    what: 'settings with which other CLIs leave out what a project brings',
    format: folder,
    made: true,
  },
  {
    path: 'quarantine/',
    name: /^quarantine$/,
    what: 'files that commands left in projects and that were taken away',
    format: folder,
  },
  {
    path: 'turns/',
    name: /^turns$/,
    what: 'connections of running turns to the tool think',
    format: folder,
    made: true,
  },
  { path: 'doctor/', name: /^doctor$/, what: 'long answers to a doctor’s question', format: folder, made: true },
]

/** The files in the folder of a project, `projects/<slug>/`, whose name ends in the hash of the project's path. */
export const projectTable: readonly HomeRow[] = [
  {
    path: 'history.jsonl',
    name: /^history\.jsonl$/,
    what: 'the conversations of the project, also those of its coordinator: one entry a line; no line is ever changed, but those of a deleted session are overwritten with spaces',
    format: jsonl,
  },
  {
    path: 'project.json',
    name: /^project\.json$/,
    what: 'the real path of the project, its sessions, and what you agreed to in it',
    format: 'JSON',
  },
  { path: 'trees.json', name: /^trees\.json$/, what: 'unfinished task trees', format: 'JSON' },
  {
    path: 'draw.json',
    name: /^draw\.json$/,
    what: 'the random draw for the agent of the next turn',
    format: 'JSON',
    made: true,
  },
  { path: 'settling.json', name: /^settling\.json$/, what: 'turns whose end is not saved yet', format: 'JSON' },
  {
    path: 'imported.json',
    name: /^imported\.json$/,
    what: 'which sessions of other CLIs were imported, and from where',
    format: 'JSON',
  },
  {
    path: 'imported/',
    name: /^imported$/,
    what: 'copies of sessions of other CLIs; no copy is ever changed',
    format: `folder of ${jsonl}`,
  },
  {
    path: 'supervised.json',
    name: /^supervised\.json$/,
    what: 'the leash, the hub and other options of supervised agents, for --resume',
    format: 'JSON',
  },
  {
    path: '*.json.tmp',
    name: /^(project|trees|draw|settling|imported|supervised)\.json\.tmp$/,
    what: 'left by an interrupted write',
    format: 'as the file',
  },
  {
    path: 'shown/',
    name: /^shown$/,
    what: 'the words of running turns, written before they are shown',
    format: `folder of ${jsonl}`,
  },
  { path: 'output/', name: /^output$/, what: 'long outputs', format: folder },
  {
    path: 'snapshots/',
    name: /^snapshots(-[0-9a-z]{11})?$/,
    what: 'the files of the project before and after turns',
    format: 'git repository',
  },
  { path: 'caches/', name: /^caches$/, what: 'caches of commands in the sandbox', format: folder, made: true },
  { path: 'home/', name: /^home$/, what: 'the home that commands in the sandbox see', format: folder, made: true },
]

/** Damaged files and folders that were set aside. */
export const asideRow: HomeRow = {
  path: '*.<time>.broken',
  name: /\.[\dTZ-]+\.broken(-\w+)?$/,
  what: 'damaged and set aside; read it, or delete it',
  format: 'as the file',
}

/** Files that the person puts into our home for us to read, and folders that may hold the person's work. */
export const personTable: readonly HomeRow[] = [
  { path: 'TERMAITE.md', name: /^TERMAITE\.md$/, what: 'your own instructions', format: 'Markdown' },
  { path: 'commands/', name: /^commands$/, what: 'your own slash commands', format: 'folder of Markdown' },
  { path: 'skills/', name: /^skills$/, what: 'your own skills', format: 'folder of Markdown' },
  { path: 'agents/', name: /^agents$/, what: 'your own subagents', format: 'folder of Markdown' },
  {
    path: 'worktrees/',
    name: /^worktrees$/,
    what: 'worktrees of agents; they may hold work',
    format: 'git worktrees',
  },
  {
    path: 'bench/',
    name: /^bench$/,
    what: 'worktrees of agents that clone; they may hold work',
    format: 'git worktrees',
  },
  {
    path: 'clones/',
    name: /^clones$/,
    what: 'clones of the repositories of those worktrees',
    format: 'git repositories',
  },
  { path: 'models.json', name: /^models\.json$/, what: 'what you wrote about models', format: 'JSON' },
]

/** The files in `run/`, about the processes that run now. */
export const runTable: readonly HomeRow[] = [
  {
    path: 'run/<pid>-<start>.json',
    name: /^\d+-[0-9a-z]+\.json(\.tmp)?$/,
    what: 'note of a running process',
    format: 'JSON',
    made: true,
  },
  { path: 'run/<turn>.sock', name: /\.sock$/, what: 'socket of a running process', format: 'unix socket', made: true },
  {
    path: 'run/link-<hash>.lock',
    name: /^link-\w+\.lock(-\w+)?$/,
    what: 'lock of the link to a hub',
    format: sqlite,
    made: true,
  },
  {
    path: 'run/slot-<number>-<hash>.lock',
    name: /^slot-\d+-\w+\.lock(-\w+)?$/,
    what: 'lock of the process that gives tasks of the hub to a crew agent',
    format: sqlite,
    made: true,
  },
]
