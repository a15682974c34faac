export type AcpSdk = typeof import('@agentclientprotocol/sdk')

/** Loads the ACP library when an editor is served, so that no other run pays for it. */
export const loadAcpSdk = (): Promise<AcpSdk> => import('@agentclientprotocol/sdk')
