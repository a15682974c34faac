import { linkPath, relayPath } from '../../../wire/link/link-greeting.ts'
import { mcpPath } from '../../../wire/http/http-server.ts'
import { terminalsPath } from '../../../page/terminal-frames.ts'

/** An address that the server of the hub answers without a route. */
export type ServerPath = {
  method: 'GET' | 'POST'
  path: string
  about: string
  query?: Readonly<Record<string, string>>
  /** The type of the answer; with `socket` the connection becomes a WebSocket. */
  answer: 'json' | 'events' | 'text' | 'socket'
  /** Set if the address needs no key. */
  open?: true
}

/** The addresses that the server answers itself, by purpose. */
export const serverPaths = {
  signIn: {
    method: 'POST',
    path: '/api/sign-in',
    about: 'Signs a browser in with the secret of a link.',
    answer: 'json',
    open: true,
  },
  join: {
    method: 'POST',
    path: '/api/join',
    about:
      'Exchanges the `code` of an invitation for a key of the role agent; `hash` is the SHA-256 of the new key in hex.',
    answer: 'json',
    open: true,
  },
  events: {
    method: 'GET',
    path: '/api/events',
    about: 'Streams every change of agents, tasks and pipelines (server-sent events).',
    query: {
      after: 'The id of the last event that the follower has; the header last-event-id counts before it.',
      brief: 'Sends only a short form of each task.',
      turns: 'Also sends the running turns, the machines and the standing of agents.',
    },
    answer: 'events',
  },
  live: {
    method: 'GET',
    path: '/api/sessions/:id/live',
    about: 'Streams one conversation: each entry as it is kept, and the text of the running turn.',
    query: { after: 'The position of the last entry that the follower has.' },
    answer: 'events',
  },
  mcp: { method: 'POST', path: mcpPath, about: 'The hub as an MCP server; see mcp-tools.md.', answer: 'json' },
  terminals: { method: 'GET', path: terminalsPath, about: 'The terminals of a page.', answer: 'socket' },
  link: { method: 'GET', path: linkPath, about: 'The link of a machine to the hub.', answer: 'socket' },
  relay: { method: 'GET', path: relayPath, about: 'Requests of another hub of the same ledger.', answer: 'socket' },
  metrics: {
    method: 'GET',
    path: '/metrics',
    about: 'The numbers of the hub, in the format of Prometheus.',
    answer: 'text',
  },
  alive: { method: 'GET', path: '/healthz', about: 'Says that the hub runs.', answer: 'text', open: true },
  ready: {
    method: 'GET',
    path: '/readyz',
    about: 'Says whether the hub can work: 503 while it does not reach its ledger.',
    answer: 'text',
    open: true,
  },
} as const satisfies Record<string, ServerPath>
