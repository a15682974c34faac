/**
 * The number of the protocol between the hub and its agents and clients. It grows when one side sends something that the other did not
 * support before: 2 has workspaces by their repository, bundles and late work.
 */
export const hubProtocol = 2

/** The version and the protocol of one side; a side that reports neither is older than protocol 2. */
export type HubVersion = { version?: string; protocol?: number }

/** Says which side is older and has to be updated; undefined if both speak the same protocol. */
export function skewWords(hub: HubVersion, own: Required<HubVersion>, url: string): string | undefined {
  const { protocol = 1, version } = hub
  if (protocol === own.protocol) return undefined
  const other = version === undefined ? 'an older termaite' : `termaite ${version}`
  return protocol < own.protocol
    ? `The hub at ${url} runs ${other}, and this is termaite ${own.version}: update termaite on the machine of the hub (npm install -g termaite@latest), then start the hub again.`
    : `The hub at ${url} runs ${other}, which is newer than this termaite ${own.version}: update this machine (npm install -g termaite@latest).`
}
