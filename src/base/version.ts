declare const TERMAITE_VERSION: string | undefined

/** The version, which the build sets; a run from source has a version that is never published. */
export const version = typeof TERMAITE_VERSION === 'string' ? TERMAITE_VERSION : '0.0.0-source'
