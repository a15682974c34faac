/** The oldest Node that `engines` of package.json allows, exactly; for arm64 the registry has none that is older than 22.20. */
export const oldestNode = process.arch === 'arm64' ? '22.20.0' : '22.19.0'

/** The newest line of Node that the program is tried on. */
export const newestNode = '26.10.0'
