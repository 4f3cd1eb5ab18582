"""Posts that were written for the tests and the pages of examples: six languages and three scripts, all our own."""

# ruff: noqa: E501 - texts are wrapped as they are read, and the backslash goes over

from typing import NamedTuple


class SamplePost(NamedTuple):
    """A post, the language it is in, and the category that an editor would choose."""

    title: str
    content: str
    language: str
    category: str


POSTS: tuple[SamplePost, ...] = (
    SamplePost(
        "How to Grow Tomatoes on a Small Balcony",
        """# How to Grow Tomatoes on a Small Balcony

Have you ever tasted a tomato that was still warm from the sun? You don't need a garden for that.

A balcony with six hours of sun is enough for three or four tomato plants. Choose compact varieties, because tall vines \
need stakes and a lot of water. Cherry tomatoes ripen first and forgive beginners most of their mistakes.

## Pots and soil

Use pots of at least 15 litres with holes in the bottom. Fill them with potting soil and mix in a third of **compost**. \
Cheap soil dries out quickly, and dry roots are the main reason why balcony tomatoes fail.

## Watering

Water in the morning, slowly, until it runs out below. In July a plant in a pot may need four litres a day. \
[Read more about drip irrigation](https://example.com/drip).

## Feeding

Once the first fruits show, feed the tomato plants every week with a fertilizer rich in potassium. Pinch out the side \
shoots so that light and air reach the fruit. With regular watering and feeding, one pot gives up to three kilos of \
cherry tomatoes in a summer.

*Subscribe to our newsletter for more garden tips!*
""",
        "en",
        "Home & Garden",
    ),
    SamplePost(
        "Why We Moved Our Backups Off the Cloud",
        """<article><header><p>By Dana, 4 May</p></header>
<p>Last spring our cloud bill grew by forty percent in a single month, and nobody could say why. The answer was in the \
storage report: old backups that no one had deleted.</p>
<p>We now keep encrypted backups on two servers of our own, in two buildings. A small script copies the database every \
hour and tests the restore every night. Restoring the whole database takes eleven minutes, down from two hours.</p>
<pre><code>pg_dump --format=custom shop | age -r key > shop.age</code></pre>
<p>The cloud is still useful for us: it holds one weekly copy, in case both buildings burn. But encrypted backups on our \
own servers cost a tenth of what we paid before, and a restore no longer depends on somebody else's queue.</p>
<ul><li>Two servers, two buildings</li><li>Hourly copies, nightly restore tests</li></ul>
<footer>© 2026 Example Ltd. All rights reserved. We use cookies.</footer></article>""",
        "en",
        "Technology",
    ),
    SamplePost(
        "Three Days in Lisbon Without a Car",
        """Lisbon is a city of seven hills, and the best way to see it is on foot and by tram. In three days you can visit \
the old town, the river front and one palace outside the city, without ever renting a car.

On the first day take tram 28 early, before nine, when you will still find a seat. It climbs through Alfama, the oldest \
quarter, past small squares with a view of the river. Get off at the castle and walk down.

The second day belongs to Belém. Trains leave every twenty minutes, and the monastery opens at ten. Buy the ticket \
online: the queue at the door can take an hour. The custard tarts next door are worth their own queue.

On the third day take the train to Sintra. Forty minutes later you stand between palaces and wet forests. Bring a \
jacket, even in August, since the hills catch the fog from the Atlantic.""",
        "en",
        "Travel",
    ),
    SamplePost(
        "A Beginner's Guide to Sourdough Bread",
        """Sourdough bread needs only flour, water, salt and time. The starter, a mix of flour and water in which wild \
yeast lives, replaces the packet of yeast. Feed the starter once a day for a week, and it will be strong enough to \
raise a loaf.

Mix the dough in the evening and let it rest overnight. Long fermentation gives sourdough its taste and a crumb that \
stays moist for days. In the morning, shape the dough, let it rise for two more hours, and heat the oven as hot as it \
goes. A heavy pot with a lid keeps the steam in, and steam is what makes a crust.

If the loaf is flat, the starter was probably too young. If the crumb is dense, give the dough more time.""",
        "en",
        "Food & Recipes",
    ),
    SamplePost(
        "The Emergency Fund, Explained in Plain English",
        """An emergency fund is money that you keep for bad surprises: a lost job, a broken boiler, a dentist's bill. Most \
advisers suggest three to six months of expenses, kept in a savings account that you can reach within a day.

Start with one month. Set up a transfer for the day after your salary arrives, even if it is only fifty dollars. Money \
that leaves your account at once is money that you never plan to spend. When the savings account holds one month of \
expenses, raise the amount.

Do not invest your emergency fund in stocks. Shares tend to fall at the very moment when jobs are lost. Interest rates \
matter less here than the certainty that the money is there.""",
        "en",
        "Finance",
    ),
    SamplePost("10 Tips for Better Sleep", "", "en", "Health & Wellness"),
    SamplePost(
        "Gazpacho andaluz: la receta de mi abuela",
        """El gazpacho andaluz es una sopa fría de tomate que se toma en verano. Mi abuela lo preparaba cada mañana con \
tomates muy maduros, pepino, pimiento verde, ajo y aceite de oliva.

Lava bien los tomates y córtalos en trozos. Añade el pepino pelado, medio pimiento y un diente de ajo sin el germen. \
Tritura todo durante dos minutos y agrega el aceite de oliva poco a poco, para que la sopa quede cremosa. El vinagre de \
Jerez se pone al final, con una pizca de sal.

¿Y el pan? En casa nunca faltaba: un trozo de pan del día anterior, remojado en agua, da cuerpo al gazpacho. Déjalo \
en la nevera al menos tres horas y sírvelo muy frío.""",
        "es",
        "Food & Recipes",
    ),
    SamplePost(
        "Cómo ahorrar cuando tu sueldo no llega a fin de mes",
        """Ahorrar con un sueldo bajo parece imposible, pero empieza por saber adónde va el dinero. Durante un mes, apunta \
todos los gastos en una libreta. Los gastos pequeños, como el café diario o las suscripciones olvidadas, suman más de lo \
que imaginas.

Después separa los gastos fijos de los variables y decide un presupuesto para cada semana. Pasa el dinero del ahorro a \
otra cuenta el mismo día en que cobras el sueldo. Aunque sean veinte euros, el hábito del ahorro vale más que la cantidad.

Cuando tengas un mes de gastos guardado, revisa el alquiler y los seguros: ahí se esconde el ahorro grande.""",
        "es",
        "Finance",
    ),
    SamplePost("Ideas para decorar un salón pequeño", "", "es", "Home & Garden"),
    SamplePost(
        "Courir son premier marathon à quarante ans",
        """J'ai couru mon premier marathon le jour de mes quarante ans, sans avoir jamais aimé le sport. Un plan \
d'entraînement de vingt semaines, trois sorties par semaine et beaucoup de patience ont suffi.

Le plan d'entraînement commence doucement : trente minutes de course à pied, deux fois par semaine. La sortie longue du \
dimanche s'allonge de deux kilomètres toutes les deux semaines. Le repos compte autant que la course, car c'est au repos \
que les muscles se renforcent.

Le plus dur n'est pas le trentième kilomètre. C'est de sortir un soir de novembre, sous la pluie, quand tout le monde \
reste au chaud. Le jour du marathon, je n'ai regardé ni ma montre ni les autres coureurs.""",
        "fr",
        "Sports & Fitness",
    ),
    SamplePost(
        "Apprendre le piano à l'âge adulte",
        """On peut apprendre le piano à tout âge, à condition de jouer un peu chaque jour. Quinze minutes par jour valent \
mieux que deux heures le dimanche, parce que les doigts oublient vite.

Commencez par des mélodies simples, une main après l'autre. Un bon professeur corrige la position des mains avant que \
les mauvaises habitudes ne s'installent. Un piano numérique avec des touches lourdes suffit pour les premières années, et \
le casque évite les disputes avec les voisins.

Au bout de six mois, la plupart des adultes jouent une chanson entière avec les deux mains.""",
        "fr",
        "Music",
    ),
    SamplePost("Les erreurs à éviter avant d'acheter un appartement", "", "fr", "Real Estate"),
    SamplePost(
        "Ein Hochbeet aus alten Paletten bauen",
        """Ein Hochbeet schont den Rücken und hält Schnecken fern. Aus vier alten Paletten lässt es sich an einem \
Nachmittag bauen, ganz ohne teures Werkzeug.

Stellen Sie die Paletten zu einem Viereck auf und verschrauben Sie die Ecken mit Winkeln. Eine Folie an der Innenseite \
schützt das Holz vor der Feuchtigkeit. Ganz unten liegt ein Gitter gegen Wühlmäuse, darauf folgen Äste, Laub und \
halbreifer Kompost.

Die oberste Schicht ist gute Gartenerde, mindestens dreißig Zentimeter hoch. Im ersten Jahr gibt der Kompost viel Wärme \
und Nährstoffe ab, deshalb gedeihen Tomaten, Zucchini und Kohl im Hochbeet besonders gut. Salat und Kräuter folgen im \
zweiten Jahr.""",
        "de",
        "Home & Garden",
    ),
    SamplePost(
        "Warum unser Team keine Besprechungen vor zehn Uhr hat",
        """Seit einem Jahr gibt es in unserer Firma keine Besprechungen vor zehn Uhr. Die Mitarbeiter nutzen die ruhigen \
Stunden für Arbeit, die Konzentration braucht, und die Chefs halten sich daran.

Am Anfang waren die Kunden skeptisch. Doch nach drei Monaten zeigte eine Umfrage, dass Angebote schneller fertig wurden \
und weniger Fehler hatten. Das Team verschickt Fragen jetzt schriftlich, und viele Besprechungen fallen ganz aus.

Für kleine Unternehmen ist die Regel einfach: ein Kalender, ein gesperrter Vormittag, keine Ausnahmen. Der Umsatz ist in \
dem Jahr um acht Prozent gestiegen.""",
        "de",
        "Business",
    ),
    SamplePost("Mit dem Zug durch Norwegen", "", "de", "Travel"),
    SamplePost(
        "Como montar uma horta em casa com pouco espaço",
        """Uma horta em casa cabe numa varanda, numa janela ou até numa parede. Com três horas de sol por dia já é possível \
colher manjericão, salsa, cebolinha e alface.

Escolha vasos com furos e coloque uma camada de pedras no fundo. A terra deve ser leve, misturada com composto orgânico. \
As ervas gostam de rega frequente, mas não suportam água parada nas raízes.

Plante as mudas no fim da tarde, quando o calor diminui. Em seis semanas a horta em casa já dá a primeira colheita, e o \
manjericão fresco muda qualquer massa.""",
        "pt",
        "Home & Garden",
    ),
    SamplePost(
        "Cinco livros para entender a história do samba",
        """O samba nasceu nas casas das tias baianas do Rio de Janeiro, e a melhor forma de conhecer essa história ainda é \
a leitura. Estes cinco livros contam como uma música perseguida pela polícia virou símbolo do Brasil.

O primeiro livro reúne entrevistas com compositores que conheceram os fundadores das escolas. O segundo é um romance \
que se passa num morro carioca dos anos trinta. Os outros três são biografias de cantoras e de um violonista.

Para quem tem pouco tempo, os autores sugerem começar pelas biografias: cada capítulo pode ser lido sozinho, com os \
discos ao lado.""",
        "pt",
        "Books",
    ),
    SamplePost("Dicas para a primeira entrevista de emprego", "", "pt", "Careers"),
    SamplePost(
        "Il vero ragù alla bolognese, passo dopo passo",
        """Il ragù alla bolognese richiede poche cose e molto tempo. Servono carne di manzo macinata, pancetta, sedano, \
carota, cipolla, vino rosso e poca passata di pomodoro.

Fate rosolare il soffritto a fuoco basso per dieci minuti, poi unite la carne e alzate la fiamma. Quando la carne è ben \
dorata, sfumate con il vino rosso e lasciate evaporare. Il ragù deve cuocere almeno tre ore, con il coperchio socchiuso, \
e alla fine un bicchiere di latte toglie l'acidità.

A Bologna si serve con le tagliatelle all'uovo, mai con gli spaghetti. Il giorno dopo il ragù è ancora più buono.""",
        "it",
        "Food & Recipes",
    ),
    SamplePost(
        "Fotografare la luce del mattino",
        """La luce del mattino è morbida, calda e dura poco. Chi vuole fotografare un paesaggio deve essere sul posto mezz'ora \
prima dell'alba, con la macchina fotografica già sul treppiede.

Nei primi minuti il contrasto è basso e l'esposizione è facile. Un diaframma chiuso dà nitidezza dal primo piano alle \
montagne, mentre un tempo lungo ammorbidisce l'acqua dei fiumi. Quando il sole supera l'orizzonte la luce diventa dura, e \
conviene cercare l'ombra o il controluce.

Con una fotocamera semplice si ottengono belle foto: conta più il momento che l'obiettivo.""",
        "it",
        "Photography",
    ),
    SamplePost("Adottare un cane adulto: cosa sapere", "", "it", "Pets"),
    SamplePost(
        "ベランダで始めるトマト栽培",
        """ベランダでもトマトは十分に育ちます。日当たりのよい場所に深めのプランターを置き、ミニトマトの苗を選ぶのが成功の近道です。

土は市販の野菜用培養土を使い、底に鉢底石を敷きます。水やりは朝に一回、土の表面が乾いてからたっぷり与えます。水が多すぎると根が弱り、実の味も薄くなります。

最初の実がついたら、二週間に一度の追肥を始めます。わき芽を早めに取り除くと、風通しがよくなり病気を防げます。ミニトマトは六月から九月まで収穫でき、ベランダの家庭菜園に最適です。""",
        "ja",
        "Home & Garden",
    ),
    SamplePost(
        "京都を歩く：朝の散策コース三選",
        """京都の朝は静かで、観光客の少ない道をゆっくり歩けます。早起きして散策すれば、同じ寺院もまったく違う顔を見せてくれます。

一つ目は南禅寺から哲学の道へ向かうコースです。水路沿いの桜並木は、朝七時ならほとんど人がいません。二つ目は伏見稲荷の裏山を登る道で、頂上から市内を見渡せます。三つ目は鴨川の河川敷を北へ歩くコースで、途中の喫茶店で朝食も楽しめます。

京都の旅行では、バスが混む前の二時間が一番の贅沢です。""",
        "ja",
        "Travel",
    ),
    SamplePost(
        "如何在家冲一杯好咖啡",
        """在家冲一杯好咖啡，并不需要昂贵的机器。新鲜的咖啡豆、一台手摇磨豆机和一个滤杯，就能做出咖啡馆的味道。

咖啡豆最好在烘焙后两周内喝完，每次冲泡之前再研磨。水温控制在九十二度左右，太烫会让咖啡发苦。咖啡粉和水的比例是一比十五，冲泡时间大约三分钟。

先用少量热水浸湿咖啡粉，等三十秒再继续注水。手冲咖啡的乐趣在于调整：研磨度、水温和时间的小小变化，都会改变一杯咖啡的味道。""",
        "zh",
        "Food & Recipes",
    ),
    SamplePost(
        "普通人也能坚持的跑步计划",
        """很多人跑步半途而废，是因为一开始跑得太快。一个好的跑步计划应该从走路开始，每周只增加一点点距离。

第一周，每次走五分钟、跑一分钟，重复四次。第二周把跑步时间加到两分钟。训练之间至少休息一天，肌肉需要时间恢复。一双合脚的跑鞋比任何装备都重要。

八周以后，大多数人可以连续跑三十分钟。坚持训练的秘诀不是意志力，而是固定的时间和路线。""",
        "zh",
        "Sports & Fitness",
    ),
)
