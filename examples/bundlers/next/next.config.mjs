// The configuration of the Next.js app.

export default {
  serverExternalPackages: ['coldframe'],
};
