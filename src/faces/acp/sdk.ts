export type Sdk = typeof import('@agentclientprotocol/sdk')

/** The library, loaded when an editor is served: no other run pays for it. */
export const sdk = (): Promise<Sdk> => import('@agentclientprotocol/sdk')
