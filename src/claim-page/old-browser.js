/*
 * Says so where the page cannot start: in a browser without modules, or without what they are written in. Therefore this
 * file is a plain script that browsers of 2009 read. The page needs Safari 14, Chrome or Edge 85, Firefox 79.
 */
// biome-ignore-all lint: written for browsers that know nothing newer
(function () {
  var words = {
    en: [
      'This page could not start',
      'Load it again. If that does not help, open the link in a newer browser, or on another phone or computer. Your code stays valid.',
    ],
    de: [
      'Diese Seite konnte nicht starten',
      'Laden Sie die Seite neu. Wenn das nicht hilft, öffnen Sie den Link in einem neueren Browser oder auf einem anderen Gerät. Ihr Code bleibt gültig.',
    ],
    fr: [
      'Cette page n’a pas pu démarrer',
      'Rechargez-la. Si cela ne suffit pas, ouvrez le lien dans un navigateur plus récent ou sur un autre appareil. Votre code reste valable.',
    ],
    es: [
      'Esta página no se ha podido iniciar',
      'Vuelva a cargarla. Si no funciona, abra el enlace en un navegador más reciente o en otro dispositivo. Su código sigue siendo válido.',
    ],
    pt: [
      'Não foi possível iniciar esta página',
      'Recarregue a página. Se não resolver, abra o link em um navegador mais recente ou em outro dispositivo. Seu código continua válido.',
    ],
  };
  window.sayNotStarted = function () {
    var wanted = navigator.languages || [navigator.language || 'en'];
    var language = 'en';
    for (var i = wanted.length - 1; i >= 0; i -= 1) {
      var each = String(wanted[i]).toLowerCase().split('-')[0];
      if (words.hasOwnProperty(each)) language = each;
    }
    document.documentElement.lang = language;
    document.getElementById('headline').textContent = words[language][0];
    document.getElementById('message').textContent = words[language][1];
  };
  window.addEventListener('load', function () {
    if (document.documentElement.getAttribute('data-started') === null) window.sayNotStarted();
  });
})();
