export type Sdk = typeof import('@agentclientprotocol/sdk')

/** Read when the first ACP agent takes a turn: its schemas are most of a start, and nobody else needs them. */
export function loadSdk(): Promise<Sdk> {
  return import('@agentclientprotocol/sdk')
}
