// Runs before npm or pnpm packs a package of the checkout, and refuses. The manifests of the
// checkout name no platform packages, and npm would publish `workspace:*`.

process.stderr.write('Packages are packed by `npx --yes pnpm@10 pack:all`, which writes the tarballs for publishing.\n');
process.exitCode = 1;
