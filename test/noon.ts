const ahead = 12 - new Date().getUTCHours()

/**
 * A time zone in which it is about noon now, on the same day as in UTC. A time of today is shown without its date, so that a test
 * which runs an hour before midnight would find a date where it expects none.
 */
export const noonZone = ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
