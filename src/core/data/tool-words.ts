/** Verbs for the tools that termaite gives to agents, as people say them. */
const deeds: Readonly<Record<string, string>> = {
  spawn_worker: 'starts a worker',
  spawn_workers_batch: 'starts workers',
  await_workers: 'waits for workers',
  list_workers: 'looks at its workers',
  get_worker_result: "reads a worker's result",
  send_to_worker: 'writes to a worker',
  stop_worker: 'stops a worker',
  merge_worker: "brings in a worker's changes",
  spawn_agent: 'starts an agent',
  list_agents: 'looks at the agents',
  send_to_agent: 'writes to an agent',
  read_from_agent: "reads an agent's screen",
  wait_for_idle: 'waits for an agent',
  get_artifact: "reads an agent's answer",
  kill_agent: 'stops an agent',
  think: 'thinks it through',
  file_reader: 'reads',
  file_editor: 'edits',
  file_creator: 'writes',
  grep_search: 'searches',
  web_fetch: 'fetches',
  web_search: 'searches the web',
  todo_read: 'reads its list',
  todo_write: 'writes its list',
  todo_update: 'updates its list',
  load_skill: 'loads a skill',
  ask_question: 'asks',
  send_notification: 'reports',
  more_tools: 'looks for more tools',
  apply_patch: 'edits',
  subagent: 'gives a task to a subagent',
}

/** The ways in which agents name a tool of an MCP server, each beside an example. */
const serverTools: readonly RegExp[] = [
  // mcp__github__create_issue
  /^mcp__(?<server>.+?)__(?<tool>.+)$/,
  // github.create_issue
  /^(?<server>[\w-]+)\.(?<tool>[\w-]+)$/,
  // create_issue (github MCP Server)
  /^(?<tool>[\w-]+) \((?<server>\S+) MCP Server\)$/,
]

/** The beginning of the names of termaite's own MCP servers. */
const ownServer = /^termaite(?:_|-|$)/

/** Verbs for an agent's use of a tool, such as "waits for workers"; undefined for a tool that termaite does not give. */
export function toolDeed(name: string): string | undefined {
  const { server, tool } = partsOf(name)
  return server === undefined || ownServer.test(server) ? wordsFor(tool) : undefined
}

/** A tool as people name it: "waits for workers", "github: create issue", "web search". */
export function toolWords(name: string): string {
  const { server, tool } = partsOf(name)
  const own = server === undefined || ownServer.test(server)
  return (own ? wordsFor(tool) : undefined) ?? (own ? plain(tool) : `${server}: ${plain(tool)}`)
}

const wordsFor = (tool: string) => (Object.hasOwn(deeds, tool) ? deeds[tool] : undefined)

function partsOf(name: string): { server?: string; tool: string } {
  for (const pattern of serverTools) {
    const { server, tool } = pattern.exec(name)?.groups ?? {}
    if (tool !== undefined && server !== undefined) return { server, tool }
  }
  return { tool: name }
}

/** `create_issue` and `create-issue` are "create issue". */
const plain = (name: string) =>
  /^[\w-]+$/.test(name) ? name.replaceAll(/(?<=[A-Za-z0-9])[_-]+(?=[A-Za-z0-9])/g, ' ') : name
