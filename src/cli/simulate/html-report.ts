export function htmlReport(...a: readonly unknown[]): string { return String(a) }
