import type { CliCommand } from './arguments/cli-command.ts'
import { leashes } from '../core/work/agent.ts'
import { hubRoles } from '../hub/model/access/hub-key.ts'
import { machineOffers, usualOffers } from '../hub/model/machine-standing.ts'
import { json, yes } from './arguments/cli-command.ts'

const qr = {
  qr: { help: 'show the link as a QR code too (usual in a terminal where the address can be reached from elsewhere)' },
  'no-qr': { help: 'show no QR code' },
}
const allowPrompts = {
  'allow-prompts': {
    help: 'let people who sign in as you send prompts to your projects from the page; each starts a turn as -p does (default off)',
  },
}
const linkFlags = {
  offer: {
    value: 'list',
    help: `what admins of the hub may see and do on this machine: ${machineOffers.join(', ')} (default ${usualOffers.join(',')})`,
  },
  'machine-name': { value: 'name', help: 'the name of this machine at the hub (default: its host name)' },
}
const hubServer = { value: 'url', help: 'the address of the hub (default: the hub on this machine, at port 3456)' }

const hubLedger = {
  value: 'address',
  help: 'the PostgreSQL database with the tasks (default: hub.ledger in the settings, else a file of this machine)',
}

/** The commands that run and supervise several agents: crews, the hub, its tasks and its page. */
export const crewCommands: readonly CliCommand[] = [
  {
    name: 'crew',
    words:
      '[list|watch|spawn <agent> [task…]|send <slot> <text…>|answer <slot> [option]|read <slot>|wait <slot…>|kill <slot>|attach <slot>|attach --server <url> <machine>/<slot>|artifact <slot>|logs <slot>|close]',
    summary: 'Run agents side by side, each in its own terminal: start, prompt, wait for, chain and end them.',
    flags: {
      workspace: { short: 'w', value: 'name', help: 'use this crew instead of the project’s own' },
      'depends-on': {
        value: 'slots',
        help: 'spawn: start when these slots are idle, for example 1,2; {{slot_1.output}} in the task becomes the answer of slot 1',
      },
      'depends-on-timeout': { value: 'seconds', help: 'spawn: how long to wait for those slots (default 300)' },
      model: { value: 'model', help: 'spawn: the model, as the CLI names it' },
      leash: { value: 'level', choices: leashes, help: 'spawn: how much the agent may do' },
      'spawn-mode': { value: 'mode', choices: ['window', 'pane'], help: 'spawn: where the terminal opens' },
      worktree: { help: 'spawn: work in a new git worktree made from HEAD' },
      'worktree-name': { value: 'name', help: 'spawn: work in a new git worktree with this name' },
      lines: { value: 'n', help: 'read, wait: how many of the last lines to print' },
      clean: { help: 'read: leave out borders and empty space' },
      'since-last': { help: 'read: print only what is new since the last read' },
      pattern: { value: 'regex', help: 'read: wait until the output matches' },
      timeout: { value: 'seconds', help: 'read, wait: how long to wait (default 30 for read, 120 for wait)' },
      any: { help: 'wait: stop when one slot is idle instead of all' },
      cwd: { value: 'dir', help: 'the folder that the agent works in' },
      server: { value: 'url', help: 'attach: the hub through which a terminal of another machine is reached' },
      ...yes,
      ...json,
    },
    examples: [
      'termaite crew spawn claude "audit the code"',
      'termaite crew spawn gemini "sum up: {{slot_1.output}}" --depends-on 1',
      'termaite crew wait 2 && termaite crew artifact 2',
      'termaite crew answer 1 yes',
      'termaite crew attach 1',
      'termaite crew attach --server https://hub.example build-7/1',
      'termaite crew watch',
    ],
    load: () => import('./commands/crew.ts'),
  },
  {
    name: 'mcp',
    words: '[serve|install <client>|remove <client>|list]',
    summary:
      'Let MCP clients run a crew: serve is the MCP server; install and remove edit a client’s settings, after showing you the change.',
    flags: {
      http: { value: '[host:]port', help: 'serve: use HTTP on this machine, with a key, instead of stdin and stdout' },
      cwd: { value: 'dir', help: 'the folder that agents work in' },
      'dry-run': { help: 'install, remove: show the change without making it' },
      ...yes,
      ...json,
    },
    examples: [
      'termaite mcp install claude',
      'termaite mcp install claude-desktop --cwd ~/project',
      'termaite mcp serve',
      'termaite mcp serve --http 3920',
      'termaite mcp remove claude',
    ],
    load: () => import('./commands/machine/mcp.ts'),
  },
  {
    name: 'agent',
    words: '[join <address of a hub> | leave [address]]',
    summary:
      'Keep one agent working for hours on tasks from the hub, through crashes, silence and spent quotas. `join` makes this an agent machine of a hub, by the code of termaite hub invite; `leave` undoes that.',
    flags: {
      start: { value: 'cli', help: 'the agent: claude, gemini, … or one from the settings' },
      as: { value: 'workflow', help: 'the instructions to begin with: .agent/workflows/<workflow>.md (default orc)' },
      resume: { help: 'resume the latest session of this project' },
      slot: { value: 'number', help: 'instead of --start: give the hub’s tasks to the agent in this slot of the crew' },
      server: hubServer,
      'key-file': { value: 'file', help: 'the file with the key to that hub, which only you can read (mode 0600)' },
      ca: { value: 'file', help: 'trust the certificate authority in this PEM file, beside those of this machine' },
      tmux: { help: 'run the agent in a tmux window, which stays open when termaite ends' },
      here: { help: 'work in the project itself, not in a worktree' },
      clone: {
        help: 'take tasks of any repository that hub.clone in the settings allows, and clone it with the git credentials of this machine',
      },
      push: {
        help: 'push the branch of each task to the remote, with the git credentials of this machine (default: send it to a hub elsewhere as a bundle)',
      },
      leash: { value: 'level', choices: leashes, help: 'how much the agent may do' },
      capability: {
        value: 'word',
        many: true,
        help: 'something the agent can do, which tasks may ask for; repeatable',
      },
      ...linkFlags,
      code: {
        value: 'code',
        help: 'join: the code of the invitation, which works once (default: you are asked for it)',
      },
      'no-service': { help: 'join: make no unit of systemd; say how the agent is started' },
      'dry-run': { help: 'show the plan without starting anything' },
      ...yes,
    },
    examples: [
      'termaite agent --start=claude',
      'termaite agent --start=gemini --as=orc',
      'termaite agent --resume',
      'termaite agent join https://hub.example --start=claude --clone',
    ],
    load: () => import('./commands/hub/agent.ts'),
  },
  {
    name: 'link',
    summary:
      'Link this machine to a hub elsewhere, so that its turns and terminals are shown on the page of that hub. A supervised agent (termaite agent) does this by itself.',
    flags: { server: { ...hubServer, help: 'the address of the hub' }, ...linkFlags },
    examples: [
      'termaite link --server https://hub.example',
      'termaite link --server https://hub.example --offer terminals,typing',
    ],
    load: () => import('./commands/hub/link.ts'),
  },
  {
    name: 'serve',
    summary:
      'Run the hub, where agents register and take tasks. It serves HTTP and MCP on this machine, or with TLS beyond it, and every client needs a key.',
    flags: {
      host: {
        value: 'address',
        help: 'the address to listen on (default 127.0.0.1); one beyond this machine needs a certificate or --behind-proxy',
      },
      port: { value: 'number', help: 'the port to listen on (default 3456); 0 takes any free one' },
      'public-url': {
        value: 'url',
        help: 'the https address of the proxy in front of the hub; links to the page have this address',
      },
      ledger: {
        ...hubLedger,
        help: `${hubLedger.help}; several hubs may share one. Its password is in TERMAITE_LEDGER_PASSWORD or a file (hub.ledgerPasswordFile)`,
      },
      'tls-cert': {
        value: 'file',
        help: 'serve HTTPS with this certificate (PEM, with its chain); a renewed file is taken without a restart',
      },
      'tls-key': { value: 'file', help: 'the private key of the certificate, in a file that others cannot read' },
      'behind-proxy': {
        value: 'addresses',
        help: 'the addresses of the proxies in front of the hub, as in 10.0.0.7,10.1.0.0/16: only they are believed when they say where a request comes from, and in plain HTTP only they are served',
      },
      ...allowPrompts,
      ...qr,
      'inner-url': {
        value: 'url',
        help: 'the address at which the other hubs of the same ledger reach this one; they pass requests for its machines on to it',
      },
      'keep-finished': {
        value: 'time',
        help: 'remove finished tasks this long after they were last touched, such as 90d (default: hub.keepFinished in the settings, else they are kept)',
      },
      'stdio-proxy': { help: 'connect an MCP client that only speaks stdio to the running hub' },
      server: { ...hubServer, help: `with --stdio-proxy: ${hubServer.help}` },
    },
    examples: [
      'termaite serve',
      'termaite serve --port 4000',
      'termaite serve --public-url https://hub.example',
      'termaite serve --host 0.0.0.0 --tls-cert hub.pem --tls-key hub.key',
    ],
    load: () => import('./commands/hub/serve.ts'),
  },
  {
    name: 'dashboard',
    summary:
      'Print a link to the page of the hub, which shows every agent and task in a browser; runs the hub if none runs.',
    flags: {
      'read-only': { help: 'make a link to share: it shows agents and tasks, and changes nothing' },
      session: { value: 'id', help: 'make a link to share that shows one session and nothing else' },
      hours: { value: 'number', help: 'how long a link to share lasts (default 24, at most 720)' },
      ...allowPrompts,
      ...qr,
      server: hubServer,
    },
    examples: ['termaite dashboard', 'termaite dashboard --read-only --hours 8'],
    load: () => import('./commands/hub/dashboard.ts'),
  },
  {
    name: 'hub',
    words:
      '[agents | audit | machines [list|set <name>|forget <name>] | pause|drain|resume [agent <id>|machine <name>] | keys [list|add <name>|rotate <name>|revoke <name>] | invite [name] | prune | status | migrate | backup <file> | restore <file> | import <hub.db>]',
    summary:
      'Give each client of the hub a key of its own, list the agents and the machines at the hub, pause them, show who did what there, or look after its ledger. A new key is shown once; the hub keeps only its hash.',
    flags: {
      role: {
        value: 'role',
        choices: hubRoles,
        help: 'add: what the client may do (default agent). An observer reads; an agent works on tasks; a member adds, answers and approves tasks; an admin is a member who also changes keys',
      },
      valid: { value: 'time', help: 'invite: how long the code can be used (default 1h, at most 7d)' },
      expires: {
        value: 'time',
        help: 'keys add, rotate, invite: let the key expire after this time, such as 90d or 12h',
      },
      grace: {
        value: 'time',
        help: 'keys rotate: how long the old key still works (default 1h, at most 30d); 0 ends it at once, with its connections',
      },
      why: { value: 'words', help: 'pause, drain: the reason, shown to everybody whose tasks wait' },
      wait: { help: 'drain: wait until no agent has a task any more' },
      labels: {
        value: 'words',
        help: 'machines set: words that count as capabilities of every agent there, such as docker,gpu; none takes them away',
      },
      limit: { value: 'number', help: 'machines set: the most tasks that its agents have at once; none takes it away' },
      since: { value: 'time', help: 'audit: from this date, or from an age such as 7d or 12h (default 24h)' },
      by: { value: 'name', help: 'audit: only what this client did' },
      csv: { help: 'audit: print every field as CSV' },
      server: hubServer,
      ledger: { ...hubLedger, help: `status, migrate, backup, restore, import: ${hubLedger.help}` },
      'older-than': {
        value: 'time',
        help: 'prune: remove finished tasks that were last touched longer ago than this, such as 30d (default: hub.keepFinished in the settings)',
      },
      'dry-run': { help: 'prune: only say what would be removed' },
      replace: { help: 'restore: put the backup in the place of everything that is in the ledger' },
      ...yes,
      ...json,
    },
    examples: [
      'termaite hub agents',
      'termaite hub audit --since 7d --csv',
      'termaite hub machines',
      'termaite hub machines set build-7 --labels docker,gpu --limit 4',
      'termaite hub pause agent claude-2 --why "out of money"',
      'termaite hub drain machine build-7 --why "new disk" --wait',
      'termaite hub resume machine build-7',
      'termaite hub pause --why "release"',
      'termaite hub keys',
      'termaite hub keys add build-server --role agent',
      'termaite hub keys add anna --role member',
      'termaite hub keys add ci --expires 90d',
      'termaite hub keys rotate anna --grace 1d',
      'termaite hub keys revoke anna',
      'termaite hub invite build-7',
      'termaite hub prune --older-than 90d --dry-run',
      'termaite hub status',
      'termaite hub backup hub-monday.backup',
      'termaite hub import hub.db --ledger postgres://hub@db.example/hub',
    ],
    load: () => import('./commands/hub/hub.ts'),
  },
  {
    name: 'task',
    words:
      '[add <prompt…>|list|show <id>|diff <id>|fetch <id>|answer <id> <words…>|cancel <id>|retry <id>|approve <id> [--merge]|reject <id> <words…>|comment <id> <words…>|pause <pipeline>|resume <pipeline>|schedule <list/pause/resume/remove> [name]]',
    summary: 'Add, list, answer and review the tasks of the hub, one by one or as a pipeline.',
    flags: {
      server: hubServer,
      merge: {
        help: 'approve: merge the task’s branch into the branch you are on, after asking; without a clone here, on a machine that has one',
      },
      try: { value: 'number', help: 'diff, fetch: this try of the task (default: its newest work)' },
      ...yes,
      file: {
        value: 'plan',
        help: 'add: add all tasks of this plan (YAML or JSON; - reads standard input), or none if it has a mistake',
      },
      'dry-run': { help: 'add --file: check the plan and show what would be added' },
      workspace: {
        value: 'place',
        help: 'add: the folder of the project, or the address of its repository (default: this folder)',
      },
      agent: { value: 'id', help: 'add: give the task to this agent while it is connected' },
      capability: { value: 'word', many: true, help: 'add: something the agent must be able to do; repeatable' },
      priority: { value: 'number', help: 'add: tasks with a higher number go first (default 0)' },
      after: { value: 'id', many: true, help: 'add: start only when this task is done; repeatable' },
      'max-cost': { value: 'usd', help: 'add: pause the task and ask you once its agents have reported this cost' },
      'max-tokens': {
        value: 'n',
        help: 'add: pause the task and ask you once its agents have used this many tokens, as in 500k',
      },
      'no-cap': { help: 'add: no cap for this task, whatever hub.taskCap in the settings says' },
      all: { help: 'list: include finished tasks' },
      ...json,
    },
    examples: [
      'termaite task add "make the flaky test in test/store steady"',
      'termaite task add --file plan.yaml --dry-run',
      'termaite task show nightly',
      'termaite task list',
      'termaite task answer 4kq2m8xz "the second one"',
      'termaite task approve 4kq2m8xz --merge',
    ],
    load: () => import('./commands/hub/task.ts'),
  },
  {
    name: 'report',
    summary: 'Sum up what the hub’s agents did: finished work, diffs, failures, open questions, tokens.',
    flags: {
      since: { value: 'time', help: 'report from this date, or from an age such as 7d or 12h (default 24h)' },
      server: hubServer,
      ...json,
    },
    examples: ['termaite report', 'termaite report --since 12h'],
    load: () => import('./commands/hub/report.ts'),
  },
]
