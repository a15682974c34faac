declare const TERMAITE_VERSION: string | undefined

/** Set by the build; run from source it is a version nobody installed. */
export const version = typeof TERMAITE_VERSION === 'string' ? TERMAITE_VERSION : '0.0.0-source'
