export type AcpSdk = typeof import('@agentclientprotocol/sdk')

/** The library, loaded when an editor is served: no other run pays for it. */
export const loadAcpSdk = (): Promise<AcpSdk> => import('@agentclientprotocol/sdk')
